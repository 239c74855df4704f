output "agentic_events_queue_url" {
  description = "For AGENTIC_EVENTS_QUEUE_URL."
  value       = aws_sqs_queue.this["events"].url
}

output "messages_queue_url" {
  description = "For LOOPFORGE_INTAKE_QUEUE."
  value       = aws_sqs_queue.this["messages"].url
}

output "dynamodb_sessions_table" {
  description = "For DYNAMODB_SESSIONS_TABLE."
  value       = aws_dynamodb_table.this["sessions"].name
}

output "dynamodb_executions_table" {
  description = "For DYNAMODB_EXECUTIONS_TABLE."
  value       = aws_dynamodb_table.this["executions"].name
}

output "dynamodb_messages_table" {
  description = "For DYNAMODB_MESSAGES_TABLE."
  value       = aws_dynamodb_table.this["messages"].name
}

output "artifact_bucket" {
  description = "For LOOPFORGE_BACKUP_TO, as s3://NAME/backups."
  value       = aws_s3_bucket.artifacts.bucket
}

output "aws_region" {
  description = "For AWS_REGION."
  value       = var.region
}

output "role_arn" {
  description = "The role that the home runs in."
  value       = aws_iam_role.home.arn
}
