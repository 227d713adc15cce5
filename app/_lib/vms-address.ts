import { writeParameter } from '#server/domain/fleet/address.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import type { FleetSort } from '#server/domain/fleet/input.ts';

/** Returns the URL of the VM list with a filter. Without `sort`, the list has its usual order. */
export function vmsAddress(filter: FleetFilter = {}, sort?: FleetSort): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    // Only the parameters for tags are named differently from their fields.
    writeParameter({ parameter: name.replace(/ags$/, 'ag') }, value, parameters);
  }
  if (sort !== undefined) parameters.set('sort', sort);
  // Commas, colons and equals signs are allowed in a query string, and people read these URLs.
  const text = parameters.toString().replaceAll('%2C', ',').replaceAll('%3D', '=').replaceAll('%3A', ':');
  return text === '' ? '/vms' : `/vms?${text}`;
}
