/** One message of AMP: keys of up to 255 bytes, in Latin-1, and values of up to 65,535 bytes. */
export type Box = Map<string, Buffer>;

export const boxLimits = { keyBytes: 255, valueBytes: 65_535, keys: 32, boxBytes: 256 * 1024 };

/** A box that cannot be sent. */
export class BoxTooLong extends Error {
  override readonly name = 'BoxTooLong';
}

/** Creates a box from texts. Properties that are undefined are left out. */
export function boxOf(values: Record<string, string | Buffer | undefined>): Box {
  const present = Object.entries(values).filter((entry): entry is [string, string | Buffer] => entry[1] !== undefined);
  return new Map(present.map(([key, value]) => [key, typeof value === 'string' ? Buffer.from(value, 'utf8') : value]));
}

/** Returns the bytes of a box. Throws BoxTooLong if a key or value is longer than AMP permits. */
export function encodeBox(box: Box): Buffer {
  const parts: Buffer[] = [];
  for (const [key, value] of box) {
    const name = Buffer.from(key, 'latin1');
    if (name.length === 0 || name.length > boxLimits.keyBytes)
      throw new BoxTooLong(`The key ${key} has a wrong length.`);
    if (value.length > boxLimits.valueBytes) {
      throw new BoxTooLong(`${key} has ${value.length} bytes. At most ${boxLimits.valueBytes} can be sent.`);
    }
    parts.push(lengthOf(name), name, lengthOf(value), value);
  }
  return Buffer.concat([...parts, endOfBox]);
}

const endOfBox = Buffer.from([0, 0]);

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return length;
}
