// Filled next.
