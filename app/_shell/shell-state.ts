'use client';

import { createContext, useContext } from 'react';
import type { Theme } from './theme.ts';

/** The languages and the theme, which the top bar of every page and the account page need. */
export interface ShellState {
  languages: readonly string[];
  theme: Theme;
}

export const ShellContext = createContext<ShellState>({ languages: [], theme: 'system' });
export const useShell = (): ShellState => useContext(ShellContext);
