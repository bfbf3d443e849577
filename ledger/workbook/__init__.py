"""What is written of a workbook: its pages, where everything stands on them, their rows as XML."""
