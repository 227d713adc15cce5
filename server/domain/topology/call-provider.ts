import type { ProviderStep } from './provider.ts';

/** A call of the provider that failed, with its error as `cause`. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';
  readonly step: ProviderStep;

  constructor(step: ProviderStep, cause: unknown) {
    super(`the provider failed at ${step}`, { cause });
    this.step = step;
  }
}

/** Calls the provider. Its errors become `ProviderFailure`, so that errors of the portal are not mistaken for them. */
export async function callProvider<T>(step: ProviderStep, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new ProviderFailure(step, error);
  }
}
