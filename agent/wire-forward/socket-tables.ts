import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

const isLittle = endianness() === 'LE';
/** Prefix of an IPv4 address in the table of IPv6 sockets. */
const mapped = isLittle ? '0000000000000000FFFF0000' : '00000000000000000000FFFF';

/** The tables of TCP sockets in one network namespace. The open files stay readable after the process has ended. */
export interface SocketTables {
  /**
   * Returns the id of the user who owns the client's socket, or null if the client has no open socket in this
   * namespace.
   */
  uidOf(client: { address: string; port: number }, server: { address: string; port: number }): number | null;
  close(): void;
}

/** Opens the socket tables of a process's network namespace. `pid` is the process id, or `self`. */
export function openSocketTables(pid: number | 'self'): SocketTables {
  // A program may use an IPv6 socket for IPv4 too.
  const files = ['tcp', 'tcp6'].flatMap((name) => {
    try {
      return [openSync(`/proc/${pid}/net/${name}`, 'r')];
    } catch {
      return [];
    }
  });
  return {
    uidOf(client, server) {
      for (const file of files) {
        const uid = uidIn(textOf(file), client, server);
        if (uid !== null) return uid;
      }
      return null;
    },
    close() {
      for (const file of files) closeSync(file);
    },
  };
}

/**
 * Looks up a connection in the text of /proc/net/tcp or tcp6. A socket that its process has closed has no inode and
 * shows uid 0 regardless of its user, so it counts as belonging to no user.
 */
export function uidIn(
  table: string,
  client: { address: string; port: number },
  server: { address: string; port: number },
): number | null {
  const [here, there] = [endOf(client), endOf(server)];
  // Searches the text, because parsing every line for each new connection would be slow on a busy machine.
  const plain = table.indexOf(`: ${here} ${there} `);
  const at = plain >= 0 ? plain : table.indexOf(`: ${mapped}${here} ${mapped}${there} `);
  if (at < 0) return null;
  const end = table.indexOf('\n', at);
  // Columns: sl local_address rem_address st tx:rx tr:tm->when retrnsmt uid timeout inode
  const fields = table.slice(at, end < 0 ? undefined : end).split(/\s+/);
  const [uid = '', inode = '0'] = [fields[7], fields[9]];
  return inode === '0' || !/^\d+$/.test(uid) ? null : Number(uid);
}

/** Returns an IPv4 address and port as the tables write them, with the bytes in the machine's order. */
function endOf({ address, port }: { address: string; port: number }): string {
  const bytes = address.replace(/^::ffff:/, '').split('.');
  const hex = (isLittle ? bytes.reverse() : bytes).map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return `${hex.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

function textOf(file: number): string {
  const chunks: Buffer[] = [];
  let position = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const bytes = readSync(file, chunk, 0, chunk.length, position);
    if (bytes === 0) return Buffer.concat(chunks).toString('latin1');
    chunks.push(chunk.subarray(0, bytes));
    position += bytes;
  }
}
