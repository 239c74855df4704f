# Events of tasks, in order (FIFO), and lines that are taken in; each with a queue for what nobody could use.

locals {
  queues = {
    events   = { name = "${var.name}-events", suffix = ".fifo" }
    messages = { name = "discord_messages", suffix = "" }
  }
}

resource "aws_sqs_queue" "dead" {
  for_each = local.queues

  name                      = "${each.value.name}-dead${each.value.suffix}"
  fifo_queue                = each.value.suffix == ".fifo" ? true : null
  message_retention_seconds = 1209600 # 14 days
  sqs_managed_sse_enabled   = true
}

resource "aws_sqs_queue" "this" {
  for_each = local.queues

  name                       = "${each.value.name}${each.value.suffix}"
  fifo_queue                 = each.value.suffix == ".fifo" ? true : null
  max_message_size           = 262144
  message_retention_seconds  = 1209600
  visibility_timeout_seconds = 60
  receive_wait_time_seconds  = 10
  sqs_managed_sse_enabled    = true

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead[each.key].arn
    maxReceiveCount     = var.tries
  })
}
