import { AmpError } from '../amp/amp-error.ts';

/** The error codes of a unit's commands, in addition to those of the protocol. */
type UnitErrorCode =
  | 'UnknownClient'
  | 'KeyError'
  | 'NoSuchUnit'
  | 'BadValue'
  | 'NotPermitted'
  | 'TooLong'
  | 'PortalAway'
  | 'NotImplemented'
  | 'UNHANDLED';

/** Creates the error that answers a hook's command. */
export function unitError(code: UnitErrorCode, description: string): AmpError {
  return new AmpError(code, description);
}
