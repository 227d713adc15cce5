import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

/**
 * A minimal node:http server that holds every request until it is notified by PostgreSQL, and then answers all of them
 * with 304. The first argument is the URL of the database.
 */
let waiting: ServerResponse[] = [];
const listener = new pg.Client({ connectionString: process.argv[2] });
await listener.connect();
listener.on('notification', () => {
  const all = waiting;
  waiting = [];
  for (const response of all) response.writeHead(304).end();
});
await listener.query('listen yardstick_fan_out');
const server = createServer({ noDelay: true, keepAliveTimeout: 70_000 }, (_, response) => void waiting.push(response));
server.listen(0, '127.0.0.1', 2_048, () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
