/** An error that a person can fix. Its message says what happened, why, and what to do. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
}

/** Returns the message of a thrown value, followed by the message of its cause. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message || error.name}${cause}`;
}
