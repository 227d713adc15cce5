/** Why somebody whom the provider knows is not let in; the names of sentences in `auth`. */
export const refusals = ['away', 'failed', 'stale', 'denied', 'email', 'invitation', 'stranger'] as const;
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
