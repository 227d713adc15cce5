import { layoutOf } from '../folder/layout.ts';
import { lockFolder, runningAgent } from '../folder/lock.ts';
import { openCallCounter } from '../identity/call-counter.ts';
import { loadIdentity } from '../identity/identity.ts';
import { renewKey } from '../identity/renew-key.ts';
import type { Caller } from '../portal/call.ts';
import { openPortal } from '../portal/portal.ts';

/**
 * Signal that makes a running agent renew its key: while that agent runs, no other process may call the portal for this
 * machine.
 */
export const renewKeySignal = 'SIGUSR2';

/** Creates a new key pair for the machine, or signals the running agent to do so. */
export async function renewKeyNow(
  { dir, call }: { dir: string; call: Caller },
  print: (line: string) => void,
): Promise<void> {
  const layout = layoutOf(dir);
  const identity = loadIdentity(layout);
  const running = runningAgent(layout);
  if (running !== null) {
    process.kill(running, renewKeySignal);
    print(`The agent, process ${running}, renews its key. See its log for the result.`);
    return;
  }
  const unlock = lockFolder(layout);
  try {
    const portal = openPortal(identity.portal, identity.credential, openCallCounter(layout), call);
    const thumbprint = await renewKey(layout, portal);
    print(`New certificate ${thumbprint}; its private key is in ${layout.certificates}.`);
    print(
      'The old key is kept until it is no longer used. Next, start run, which fetches the settings encrypted for the new key.',
    );
  } finally {
    unlock();
  }
}
