import {
  Activity,
  CircleAlert,
  CirclePlay,
  LayoutGrid,
  NotebookText,
  Package,
  Rocket,
  Server,
  Settings,
  Upload,
  Waypoints,
} from 'lucide-react';

/**
 * The main pages, in the order of the menu. `role`: the role that a reader needs to see the page. `key`: the shortcut
 * after `g`.
 */
export const places = [
  { id: 'overview', key: 'o', href: '/', icon: LayoutGrid, role: 'viewer' },
  { id: 'attention', key: 'n', href: '/attention', icon: CircleAlert, role: 'viewer' },
  { id: 'vms', key: 'v', href: '/vms', icon: Server, role: 'viewer' },
  { id: 'models', key: 'm', href: '/models', icon: Waypoints, role: 'viewer' },
  { id: 'executions', key: 'e', href: '/executions', icon: CirclePlay, role: 'viewer' },
  { id: 'handlers', key: 'h', href: '/handlers', icon: Package, role: 'viewer' },
  { id: 'rollouts', key: 'r', href: '/rollouts', icon: Rocket, role: 'viewer' },
  { id: 'runbooks', key: 'b', href: '/runbooks', icon: NotebookText, role: 'viewer' },
  { id: 'publish', key: 'p', href: '/publish', icon: Upload, role: 'publisher' },
  { id: 'activity', key: 'a', href: '/activity', icon: Activity, role: 'viewer' },
  { id: 'settings', key: 's', href: '/settings', icon: Settings, role: 'viewer' },
] as const;

export type NavigationPlace = (typeof places)[number];

/** Whether a path belongs to this page. Only `/` belongs to the overview. */
export function isAt(path: string, place: Pick<NavigationPlace, 'href'>): boolean {
  return path === place.href || (place.href !== '/' && path.startsWith(`${place.href}/`));
}
