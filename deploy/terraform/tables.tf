# What docs/sinks.md says of tables: the keys `pk` and `sk`, both strings.

locals {
  tables = toset(["sessions", "executions", "messages"])
}

resource "aws_dynamodb_table" "this" {
  for_each = local.tables

  name         = "${var.name}-${each.key}"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk"
  range_key    = "sk"

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "S"
  }

  server_side_encryption {
    enabled = true
  }

  # Off: copies from before an erasure would outlive it.
  point_in_time_recovery {
    enabled = false
  }

  deletion_protection_enabled = true
}
