/** Something that a person can mend: the sentence says what is, why, and what to do. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
}

/** The sentence of whatever was thrown. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message || error.name}${cause}`;
}
