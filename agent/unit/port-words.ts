import { unitError } from './unit-error.ts';

/** A port, such as `80/tcp`. */
export type PortName = `${number}/${'tcp' | 'udp'}`;

export interface OpenedPorts {
  open: PortName[];
  close: PortName[];
}

const maxPorts = 256;

/** Parses a port and a protocol. Throws BadValue. */
export function readPort(port: string, protocol: string): PortName {
  const number = Number(port);
  if (!/^[1-9]\d{0,4}$/.test(port) || number > 65_535) {
    throw unitError('BadValue', 'The port is not a number from 1 to 65535.');
  }
  if (protocol !== 'tcp' && protocol !== 'udp') throw unitError('BadValue', 'The protocol is neither tcp nor udp.');
  return `${number}/${protocol}`;
}

/** The ports that a hook opens and closes. Of several commands about one port, the last one counts (EN-62). */
export class PortWords {
  private readonly words = new Map<PortName, boolean>();
  private readonly holderOf: (port: PortName) => string | null;

  constructor(holderOf: (port: PortName) => string | null) {
    this.holderOf = holderOf;
  }

  set(port: PortName, isOpen: boolean): void {
    const holder = isOpen ? this.holderOf(port) : null;
    if (holder !== null) throw unitError('NotPermitted', `${holder} has the port ${port} open on this machine.`);
    if (!this.words.has(port) && this.words.size >= maxPorts) {
      throw unitError('BadValue', `A hook can open and close at most ${maxPorts} ports.`);
    }
    this.words.set(port, isOpen);
  }

  changes(): OpenedPorts {
    const portsThat = (isOpen: boolean) => [...this.words].filter(([, each]) => each === isOpen).map(([port]) => port);
    return { open: portsThat(true), close: portsThat(false) };
  }
}
