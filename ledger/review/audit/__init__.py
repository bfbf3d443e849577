"""What is wrong with a workbook: each rule, and what it finds."""
