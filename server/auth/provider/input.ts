/** Reasons why a provider account cannot sign in or be connected. Each has a sentence in `auth`. */
export const refusals = [
  'away',
  'failed',
  'stale',
  'denied',
  'email',
  'invitation',
  'stranger',
  'taken',
  'connected',
] as const;
export type Refusal = (typeof refusals)[number];
