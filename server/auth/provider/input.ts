/** Reasons why an account at the provider cannot sign in or be connected; keys of sentences in `auth`. */
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
