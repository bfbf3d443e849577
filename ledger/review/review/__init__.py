"""What a reviewer changed in a workbook, what it moves, and its way back into the CSVs."""
