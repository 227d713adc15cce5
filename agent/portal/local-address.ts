import { connect } from 'node:net';
import { AgentError, sentenceOf } from '../agent-error.ts';

/** Milliseconds after which the connection is given up. */
const connectMs = 10_000;

/** Returns the address of this machine from which it reaches a URL. Throws AgentError if it does not reach it. */
export async function localAddressTo({ hostname, port, protocol }: URL): Promise<string> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80), timeout: connectMs });
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.once('connect', () => resolve((socket.localAddress ?? '').replace(/^::ffff:/, '')));
      socket.once('timeout', () => reject(new Error('the connection took too long')));
      socket.once('error', reject);
    });
  } catch (error) {
    throw new AgentError(
      `The address of this machine in the network is unknown, because ${host} was not reached: ${sentenceOf(error)}. Set --internal-address.`,
    );
  } finally {
    socket.destroy();
  }
}
