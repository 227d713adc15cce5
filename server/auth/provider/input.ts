/**
 * Reasons why a provider account cannot sign in or be connected. Each has a text in `auth.json`, such as
 * `refusedBy.away`.
 */
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
