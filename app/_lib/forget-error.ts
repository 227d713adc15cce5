/** The part of a mutation that `forgetError` needs. */
interface FailedMutation {
  isError: boolean;
  reset(): void;
}

/** Drops the error of the last attempt, once the user corrects the form. A running mutation is not affected. */
export function forgetError(mutation: FailedMutation): void {
  if (mutation.isError) mutation.reset();
}
