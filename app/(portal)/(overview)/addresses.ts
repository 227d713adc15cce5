/** What the list of VMs can be narrowed by. */
export interface VmsFilter {
  health?: string;
  tag?: { name: string; value: string };
  handler?: string;
  messageId?: string;
  sort?: string;
}

/** The list of VMs, narrowed: its filters are in its address. */
export function vmsAddress({ tag, ...filter }: VmsFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.append(name, value);
  if (tag !== undefined) query.append('tag', `${tag.name.replaceAll('%', '%25').replaceAll('=', '%3D')}=${tag.value}`);
  const text = query.toString();
  return text === '' ? '/vms' : `/vms?${text}`;
}
