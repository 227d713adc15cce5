import type { ServiceSettings } from '#protocol/index.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { openSealedText } from '../identity/open-sealed.ts';
import { PortalRefusal } from '../portal/portal.ts';
import type { UnitCalls } from '../portal/unit-calls.ts';
import { readChanges } from './node-texts.ts';
import type { NodeCopy, ReadNode } from './read-node.ts';
import { unitError } from './unit-error.ts';

/** Returns a function that reads nodes for one unit from the portal. Does not retry. */
export function portalReader(
  layout: AgentLayout,
  portal: Pick<UnitCalls, 'readNode' | 'readServiceSettings'>,
  unit: string,
): ReadNode {
  return async (name) => {
    try {
      if (name !== 'service') return await portal.readNode(unit, name.relation, name.unit);
      return withProtected(layout, await portal.readServiceSettings(unit));
    } catch (error) {
      if (error instanceof PortalRefusal && error.status === 404) {
        throw unitError('NoSuchUnit', 'The unit or the relation does not exist, or the unit does not take part.');
      }
      if (error instanceof PortalRefusal && error.status === 409) {
        throw unitError('NotPermitted', 'The protected settings are not released to this machine.');
      }
      throw error;
    }
  };
}

/** Adds the protected settings, which are decrypted in memory only. All of them are secret. */
function withProtected(layout: AgentLayout, service: ServiceSettings): NodeCopy {
  const { version, settings, protectedSettings, protectedSettingsCertThumbprint: thumbprint } = service;
  if (protectedSettings === undefined || thumbprint === undefined) return { version, settings };
  const text = openSealedText(layout, thumbprint, protectedSettings);
  // An absent key must not look like absent settings (EN-60).
  if (text === null) throw new Error(`this machine does not have the key ${thumbprint}`);
  const secrets = Object.fromEntries(readChanges(text));
  return { version, settings: { ...settings, ...secrets }, secretKeys: Object.keys(secrets) };
}
