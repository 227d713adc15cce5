import type { Logger } from 'pino';
import type { Services } from '#server/domain/context.ts';
import { type Attempts, openAttempts } from './attempts.ts';
import { openProvider, type Provider } from './provider/provider.ts';
import { type SignInThrottles, signInThrottles } from './throttle.ts';

/** Per-process state for signing in. */
export interface SignIn {
  throttles: SignInThrottles;
  attempts: Attempts;
  /** The OpenID provider; null if none is configured. */
  provider: Provider | null;
}

export function openSignIn({ config }: Pick<Services, 'config'>, log: Logger): SignIn {
  return {
    throttles: signInThrottles(),
    attempts: openAttempts(log),
    provider: openProvider(config, log),
  };
}
