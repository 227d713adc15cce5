import type { Refusal } from './input.ts';

/** Thrown if the provider's response cannot sign anyone in or connect an account. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly reason: Refusal;

  constructor(reason: Refusal) {
    super(reason);
    this.reason = reason;
  }
}
