variable "region" {
  description = "Region of AWS in which everything is."
  type        = string
  default     = "eu-central-1"
}

variable "name" {
  description = "What the names of everything begin with."
  type        = string
  default     = "loopforge"
}

variable "artifact_days" {
  description = "Days after which backups and files in the bucket become cheaper and slower to read."
  type        = number
  default     = 90
}

variable "tries" {
  description = "How often a message is received before its dead-letter queue takes it."
  type        = number
  default     = 5
}

variable "assumed_by" {
  description = "Who may take the role: the ARNs of roles, users or an OIDC provider's subjects' roles."
  type        = list(string)
}
