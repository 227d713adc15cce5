import { setTimeout as delay } from 'node:timers/promises';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { KeptWakes, type WakeConnection } from './kept-wakes.ts';
import type { Publish } from './tell.ts';
import type { Wakes } from './wakes.ts';

export interface NatsWakesOptions {
  /** `nats://` or `tls://` addresses, with commas between them. */
  url: string;
  /** Keeps installations on the same NATS apart. */
  installation: string;
  /** Name of the connection in NATS. */
  name: string;
  log: Logger;
}

/** Timeouts of connecting, and of the keep-alive check. */
const answerWithin = 3_000;

/** Wakes by NATS: one subject per channel. Messages published while the connection is lost are not delivered. */
export function natsWakes({ url, installation, name, log }: NatsWakesOptions): { wakes: Wakes; publish: Publish } {
  let current: NatsConnection | undefined;
  const subject = (channel: string): string => `annex.${installation}.${channel}`;
  const wakes = new KeptWakes(async (hear) => {
    // Without the client's own reconnecting: subscribing again and reporting missed messages are done in one place.
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
              else log.error({ err: error, channel }, 'NATS refuses a subscription');
            },
          });
        }
        await connection.flush();
      },
      ended: connection.closed().finally(() => {
        if (current === connection) current = undefined;
      }),
      // Pending messages are sent first.
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
      // It throws while the connection is closing; a message after a commit is no reason to fail.
      if (current === undefined || current.isClosed() || current.isDraining()) return;
      for (const payload of payloads) current.publish(subject(channel), payload);
    },
  };
}

/** The client does not read names and passwords out of addresses. A name alone is a token. */
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
