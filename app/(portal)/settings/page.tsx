import { redirect } from 'next/navigation';
import { reader } from '#app/_lib/portal.ts';

/** The first of the settings that this person may change. */
export default async function SettingsPage() {
  redirect((await reader())?.role === 'admin' ? '/settings/members' : '/settings/account');
}
