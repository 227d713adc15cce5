import type { Refusal } from './input.ts';

/** The provider's answer does not sign in. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly reason: Refusal;

  constructor(reason: Refusal) {
    super(reason);
    this.reason = reason;
  }
}
