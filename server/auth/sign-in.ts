import type { Logger } from 'pino';
import type { Services } from '#server/domain/context.ts';
import { type Attempts, openAttempts } from './attempts.ts';
import { openProvider, type Provider } from './provider/provider.ts';
import { createThrottle, type Throttle } from './throttle.ts';

const minute = 60_000;

/** State of the sign-in, for the life of the process. */
export interface SignIn {
  /**
   * In 15 minutes: 10 failures of one person from one address, or of one factor; 100 failures from one address; 600
   * times that one address asks for something to be answered.
   */
  throttles: { person: Throttle; address: Throttle; asking: Throttle };
  attempts: Attempts;
  /** Null if none is configured. */
  provider: Provider | null;
}

export function openSignIn({ config }: Pick<Services, 'config'>, log: Logger): SignIn {
  const quarter = 15 * minute;
  return {
    throttles: {
      person: createThrottle(10, quarter),
      address: createThrottle(100, quarter),
      asking: createThrottle(600, quarter),
    },
    attempts: openAttempts(log),
    provider: openProvider(config, log),
  };
}
