'use client';

import {
  KeyRound,
  Languages,
  LogOut,
  type LucideIcon,
  Monitor,
  Moon,
  Pause,
  Plus,
  Rocket,
  Server,
  ShieldCheck,
  Sun,
  Upload,
  UserPlus,
  UserRound,
  Users,
  Waypoints,
} from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { vmHealths } from '#server/domain/verdicts/words.ts';
import type { ActName } from '../../_lib/requested-act.ts';
import { signOut } from '../../_lib/session.ts';
import { useProblem } from '../../_lib/use-problem.ts';
import { toast } from '../../_ui/toast.tsx';
import { nameOfLanguage } from '../language-name.ts';
import { places } from '../places.ts';
import { useReader } from '../reader.tsx';
import { setTheme } from '../set-theme.ts';
import { useShell } from '../shell-state.ts';
import { useLanguageChoice } from '../use-language-choice.ts';

/** A palette entry that needs no search on the server. */
export interface PaletteCommand {
  id: string;
  label: string;
  icon: LucideIcon;
  /**
   * URL of the page that the command opens, and on which it starts `act`, if given. If absent, `run` acts on the
   * current page.
   */
  href?: string;
  act?: ActName;
  run?(): void;
}

/** Returns the pages and actions that this reader may use, and links to the VMs in each state. */
export function useCommands(): { pages: PaletteCommand[]; states: PaletteCommand[]; acts: PaletteCommand[] } {
  const { t, i18n } = useTranslation(['palette', 'navigation']);
  const reader = useReader();
  const speak = useLanguageChoice();
  const explain = useProblem();
  const { languages } = useShell();
  const isAdmin = reader.can('admin');

  async function leave() {
    try {
      await signOut();
      location.assign('/sign-in');
    } catch (error) {
      toast(t('navigation:signOut.failed', { reason: explain(error).message }));
    }
  }

  const pages: PaletteCommand[] = [
    ...places
      .filter((place) => reader.can(place.role))
      .map(({ id, href, icon }) => ({ id, href, icon, label: t(`navigation:${id}`) })),
    { id: 'account', href: '/settings/account', icon: UserRound, label: t('account') },
    ...(isAdmin
      ? [
          { id: 'members', href: '/settings/members', icon: Users, label: t('members') },
          { id: 'tokens', href: '/settings/tokens', icon: KeyRound, label: t('tokens') },
          { id: 'rules', href: '/settings/rules', icon: ShieldCheck, label: t('rules') },
        ]
      : []),
  ];
  const states: PaletteCommand[] = [
    ...vmHealths.map((health) => ({
      id: `state-${health}`,
      href: `/vms?health=${health}`,
      icon: Server,
      label: t('state', { state: t(`health.${health}`) }),
    })),
    { id: 'state-held', href: '/vms?held=yes', icon: Pause, label: t('held') },
  ];
  const acts: PaletteCommand[] = [
    ...(reader.can('operator')
      ? [{ id: 'enroll', href: '/vms', act: 'enroll' as const, icon: Plus, label: t('enroll') }]
      : []),
    ...(reader.can('operator')
      ? [{ id: 'new-rollout', href: '/rollouts/new', icon: Rocket, label: t('newRollout') }]
      : []),
    ...(reader.can('operator')
      ? [
          {
            ...{ id: 'new-model', href: '/models', act: 'createModel' as const },
            ...{ icon: Waypoints, label: t('newModel') },
          },
        ]
      : []),
    ...(reader.can('publisher') ? [{ id: 'upload', href: '/publish', icon: Upload, label: t('upload') }] : []),
    ...(isAdmin
      ? [{ id: 'invite', href: '/settings/members', act: 'invite' as const, icon: UserPlus, label: t('invite') }]
      : []),
    { id: 'light', icon: Sun, label: t('theme.light'), run: () => setTheme('light') },
    { id: 'dark', icon: Moon, label: t('theme.dark'), run: () => setTheme('dark') },
    { id: 'system', icon: Monitor, label: t('theme.system'), run: () => setTheme('system') },
    ...languages
      .filter((language) => language !== i18n.language)
      .map((language) => ({
        id: `language-${language}`,
        icon: Languages,
        label: t('speak', { language: nameOfLanguage(language) }),
        run: () => void speak(language),
      })),
    { id: 'leave', icon: LogOut, label: t('navigation:signOut'), run: () => void leave() },
  ];
  return { pages, states, acts };
}
