/** The part of a mutation that `forgetError` needs. */
interface FailedMutation {
  isError: boolean;
  reset(): void;
}

/** Clears the error of the last attempt, for forms that the user edits again. A running mutation is not affected. */
export function forgetError(mutation: FailedMutation): void {
  if (mutation.isError) mutation.reset();
}
