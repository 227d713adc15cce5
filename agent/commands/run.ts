import { Agent, type AgentOptions } from '../agent.ts';
import { layoutOf } from '../folder/layout.ts';
import { lockFolder } from '../folder/lock.ts';
import { loadIdentity } from '../identity/identity.ts';
import { type JournalOptions, openJournal } from '../journal.ts';
import { agentVersion } from '../version.ts';
import { renewKeySignal } from './renew-key.ts';

export interface RunOptions
  extends JournalOptions,
    Pick<
      AgentOptions,
      'heartbeatSeconds' | 'statusSeconds' | 'rebootCommand' | 'disableOnExit' | 'call' | 'environment'
    > {
  dir: string;
}

/** Works until the signal; nothing that it reads or receives ends it. */
export async function run(options: RunOptions, print: (line: string) => void, signal: AbortSignal): Promise<void> {
  const layout = layoutOf(options.dir);
  const identity = loadIdentity(layout);
  const unlock = lockFolder(layout);
  try {
    const journal = openJournal(layout.logs, print, options);
    journal.info(`Annex agent ${agentVersion} for VM ${identity.vmId}, portal ${identity.portal}.`);
    const agent = new Agent({ ...options, layout, journal });
    await agent.start();
    if (!signal.aborted) {
      const polling = agent.poll();
      const renewKey = () => void agent.renewKey();
      process.on(renewKeySignal, renewKey);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      process.off(renewKeySignal, renewKey);
      await agent.stop();
      await polling;
    } else await agent.stop();
    journal.info(options.disableOnExit ? 'Ended.' : 'Ended. Handlers go on by themselves; run again to go on here.');
  } finally {
    unlock();
  }
}
