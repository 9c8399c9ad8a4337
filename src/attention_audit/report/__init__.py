"""What people see of the store: charts and pages. It reads, and defines no statistic of its own."""
