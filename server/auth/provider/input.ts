/** Reasons why an account at the provider does not sign in or connect; keys of sentences in `auth`. */
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
