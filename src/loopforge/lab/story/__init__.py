"""A run as a story: claims out of rows, sentences out of claims, and their checker."""
