"""What engines that are not ours compute of a workbook."""
