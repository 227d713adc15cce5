import { readFileSync, statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { AgentError } from '../agent-error.ts';
import { layoutOf } from '../folder/layout.ts';
import { lockFolder } from '../folder/lock.ts';
import { type JournalOptions, openJournal } from '../journal.ts';
import { openConnections } from '../portal/call.ts';
import { isLoopback } from '../portal/plain-http.ts';
import type { PortalRoute } from '../portal/route.ts';
import { guestTokenOf } from '../settings/tokens.ts';
import { agentVersion } from '../version.ts';
import { Forwarder } from '../wire-forward/forwarder.ts';
import { type Endpoint, handOver, insideCommand, listenHere, listenInside } from '../wire-forward/listen.ts';

export interface WireForwardOptions extends JournalOptions, PortalRoute {
  dir: string;
  gateway?: string;
  vm?: string;
  guestTokenFile?: string;
  /** Value of ANNEX_GUEST_TOKEN. */
  guestToken?: string;
  networkNamespace?: string;
  wireAddress: string;
  pluginAddress: string;
  metadataAddress: string;
  allowUids: string;
  clients?: string;
  input: Readable & { isTTY?: boolean };
  output: Writable;
  /** Command line that starts this program again. */
  program: string[];
}

/** Relays requests from one VM's stock agent to the gateway until the signal aborts. */
export async function wireForward(
  options: WireForwardOptions,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { gateway, vm } = gatewayOf(options);
  const token = await guestTokenOf({
    tokenFile: options.guestTokenFile,
    variable: options.guestToken,
    input: options.input,
    output: options.output,
  });
  const connections = openConnections(options);
  const layout = layoutOf(options.dir);
  const unlock = lockFolder(layout);
  try {
    const journal = openJournal(layout.logs, print, options);
    const { wireAddress, pluginAddress, metadataAddress, networkNamespace, program } = options;
    const addresses = [wireAddress, pluginAddress, ...(metadataAddress === 'none' ? [] : [metadataAddress])];
    const endpoints = addresses.map(endpointOf);
    const listening = networkNamespace
      ? await listenInside(networkNamespace, endpoints, program)
      : await listenHere(endpoints);
    const forwarder = new Forwarder({
      gateway,
      vm,
      token,
      connections,
      journal,
      tables: listening.tables,
      allowUids: options.allowUids.split(',').map(Number),
      clients: options.clients?.split(',') ?? [],
      rereadToken: () => tokenIn(options.guestTokenFile),
    });
    for (const [index, server] of listening.servers.entries()) forwarder.serve(index === 1 ? 'hgap' : 'wire', server);
    if (isOpenToOthers(options.guestTokenFile)) {
      journal.warn(
        `Other users can read ${options.guestTokenFile}. Run chmod 600 on it: anyone with the token can act as the VM.`,
      );
    }
    journal.info(`Annex forwarder ${agentVersion} for VM ${vm}: ${addresses.join(', ')} to ${gateway.origin}.`);
    if (!signal.aborted) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    }
    forwarder.close();
    journal.info('Stopped. The VM is unresponsive until the forwarder runs again.');
  } finally {
    unlock();
  }
}

/** The command that `wire-forward` starts inside a network namespace. */
export const wireListen = { name: insideCommand, run: (addresses: string[]) => handOver(addresses.map(endpointOf)) };

function gatewayOf({ gateway, vm }: WireForwardOptions): { gateway: URL; vm: string } {
  if (gateway === undefined) throw new AgentError('No gateway. Set --gateway, for example https://annex.example.net.');
  if (vm === undefined) throw new AgentError('No VM. Set --vm to its id, which is on its page in the portal.');
  const url = new URL(gateway);
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return { gateway: url, vm };
  throw new AgentError(
    'The gateway must have an https address. Without TLS, anyone on the network path could read the token and the settings.',
  );
}

function endpointOf(address: string): Endpoint {
  const [host = '', port = ''] = address.split(':');
  return { host, port: Number(port) };
}

function tokenIn(file: string | undefined): string | null {
  if (file === undefined || file === '-') return null;
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

function isOpenToOthers(file: string | undefined): boolean {
  if (file === undefined || file === '-') return false;
  return ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0;
}
