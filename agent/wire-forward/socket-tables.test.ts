import { endianness } from 'node:os';
import { expect, test } from 'vitest';
import { uidIn } from './socket-tables.ts';

const [client, server] = [
  { address: '127.0.0.1', port: 0xa1b2 },
  { address: '168.63.129.16', port: 80 },
];
const little = endianness() === 'LE';
const [here, there] = little ? ['0100007F', '10813FA8'] : ['7F000001', 'A83F8110'];
const mapped = little ? '0000000000000000FFFF0000' : '00000000000000000000FFFF';
const row = (local: string, remote: string, uid: number, inode: number) =>
  `   3: ${local} ${remote} 01 00000000:00000000 02:00000498 00000000 ${String(uid).padStart(5)}        0 ${inode} 2 0`;
const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';

test.each<[string, string, number | null]>([
  ['the user of the other end', row(`${here}:A1B2`, `${there}:0050`, 33, 812), 33],
  ['an IPv6 socket that speaks IPv4', row(`${mapped}${here}:A1B2`, `${mapped}${there}:0050`, 33, 812), 33],
  [
    'a socket that no process holds any longer has no user, though the table says 0',
    row(`${here}:A1B2`, `${there}:0050`, 0, 0),
    null,
  ],
  ['our own end of it', row(`${there}:0050`, `${here}:A1B2`, 0, 813), null],
  ['another port', row(`${here}:A1B3`, `${there}:0050`, 0, 813), null],
  [
    'an IPv6 address that ends alike',
    row(`${'0'.repeat(24)}${here}:A1B2`, `${'0'.repeat(24)}${there}:0050`, 0, 813),
    null,
  ],
  ['nobody', '', null],
])('%s', (_, line, uid) => {
  expect(uidIn(`${head}\n${line}\n`, client, server)).toBe(uid);
});
