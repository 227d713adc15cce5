import crypto, { type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/*
 * Hashes passwords with a sixteenth of the work: `node --import server/testing/quick-passwords.ts …`. Portals make each
 * guess expensive, which would take a tenth of the time of the tests of sign-ins.
 */
type Done = (error: Error | null, key: Buffer) => void;

const { scrypt } = crypto;
const quick = (password: string, salt: string, length: number, options: ScryptOptions, done: Done): void =>
  scrypt(password, salt, length, { ...options, N: (options.N ?? 16_384) / 16 }, done);

Object.assign(crypto, { scrypt: quick });
syncBuiltinESMExports();
