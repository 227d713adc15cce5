import { setTimeout as delay } from 'node:timers/promises';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { KeptWakes, type WakeConnection } from './kept-wakes.ts';
import type { Publish } from './tell.ts';
import type { Wakes } from './wakes.ts';

export interface NatsWakesOptions {
  /** `nats://` or `tls://` URLs, separated by commas. */
  url: string;
  /** Distinguishes installations that use the same NATS servers. */
  installation: string;
  /** Name that NATS shows for the connection. */
  name: string;
  log: Logger;
}

/** Timeout for connecting, and interval of keep-alive checks, in milliseconds. */
const answerWithin = 3_000;

/**
 * Wake-ups over NATS, with one subject per channel. Messages published while the connection is lost are not delivered.
 */
export function natsWakes({ url, installation, name, log }: NatsWakesOptions): { wakes: Wakes; publish: Publish } {
  let current: NatsConnection | undefined;
  const subject = (channel: string): string => `annex.${installation}.${channel}`;
  const wakes = new KeptWakes(async (hear) => {
    // Disables the client's own reconnection, because `KeptWakes` reconnects, subscribes again and notifies the
    // listeners.
    const connection = await connect({
      ...serversOf(url),
      name,
      timeout: answerWithin,
      reconnect: false,
      pingInterval: answerWithin,
      maxPingOut: 1,
    });
    current = connection;
    const subscribed = new Set<string>();
    const link: WakeConnection = {
      async listen(channels) {
        for (const channel of channels) {
          if (subscribed.has(channel)) continue;
          subscribed.add(channel);
          connection.subscribe(subject(channel), {
            callback: (error, message) => {
              if (error === null) hear(channel, message.string());
              else log.error({ err: error, channel }, 'NATS rejected a subscription');
            },
          });
        }
        await connection.flush();
      },
      ended: connection.closed().finally(() => {
        if (current === connection) current = undefined;
      }),
      // Sends pending messages before closing.
      async close() {
        await Promise.race([connection.drain().catch(() => {}), delay(500, undefined, { ref: false })]);
        await connection.close();
      },
    };
    return link;
  }, log);
  return {
    wakes,
    publish(channel, payloads) {
      // Publishing on a closing connection throws. A call whose changes are committed must not fail because of that.
      if (current === undefined || current.isClosed() || current.isDraining()) return;
      for (const payload of payloads) current.publish(subject(channel), payload);
    },
  };
}

/**
 * Returns the servers and their credentials separately, because the client does not read names and passwords from URLs.
 * A name without a password is a token.
 */
function serversOf(list: string) {
  const urls = list.split(',').map((one) => new URL(one.trim()));
  const [first] = urls;
  const user = decodeURIComponent(first?.username ?? '');
  const pass = decodeURIComponent(first?.password ?? '');
  const servers = urls.map((one) => `${one.hostname}:${one.port === '' ? 4222 : one.port}`);
  return {
    servers,
    ...(user === '' ? {} : pass === '' ? { token: user } : { user, pass }),
    ...(first?.protocol === 'tls:' ? { tls: {} } : {}),
  };
}
