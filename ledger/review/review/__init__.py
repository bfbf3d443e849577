"""The changes of a reviewer in a workbook, the printed cells that they change, their way back into CSVs."""
