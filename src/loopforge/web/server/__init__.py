"""What serves pages: guards, headers, forms, templates, the port."""
