import { redirect } from 'next/navigation';

/** The first of the settings. */
export default function SettingsPage(): never {
  redirect('/settings/members');
}
