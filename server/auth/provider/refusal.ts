/** Why an account at the provider does not sign in or is not connected; the names of sentences in `auth`. */
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

/** The provider's word is not enough. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly reason: Refusal;

  constructor(reason: Refusal) {
    super(reason);
    this.reason = reason;
  }
}
