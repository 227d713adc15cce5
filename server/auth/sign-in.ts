import type { Logger } from 'pino';
import type { Services } from '#server/domain/context.ts';
import { createThrottle, type Throttle } from './throttle.ts';

const minute = 60_000;

/** What the sign-in keeps for the life of the process. */
export interface SignIn {
  /** Failures in 15 minutes: 10 of one person from one address, or of one factor; 100 from one address. */
  throttles: { person: Throttle; address: Throttle };
}

export function openSignIn(_services: Pick<Services, 'config'>, _log: Logger): SignIn {
  return { throttles: { person: createThrottle(10, 15 * minute), address: createThrottle(100, 15 * minute) } };
}
