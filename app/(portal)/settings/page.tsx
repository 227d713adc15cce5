import { redirect } from 'next/navigation';
import { reader } from '#app/_lib/portal.ts';

/** Redirects to the first settings page that this reader may use. */
export default async function SettingsPage() {
  redirect((await reader())?.role === 'admin' ? '/settings/members' : '/settings/account');
}
