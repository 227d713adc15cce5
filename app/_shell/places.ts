import { Package, Server, Settings, Upload } from 'lucide-react';

/** The places of the portal, in the order of the menu. `role`: shown to those who have it. */
export const places = [
  { id: 'vms', href: '/vms', icon: Server, role: 'viewer' },
  { id: 'handlers', href: '/handlers', icon: Package, role: 'viewer' },
  { id: 'publish', href: '/publish', icon: Upload, role: 'publisher' },
  { id: 'settings', href: '/settings', icon: Settings, role: 'viewer' },
] as const;

export type Place = (typeof places)[number];

/** Whether this path belongs to the place. */
export function isAt(path: string, place: Pick<Place, 'href'>): boolean {
  return path === place.href || path.startsWith(`${place.href}/`);
}
