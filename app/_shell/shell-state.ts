'use client';

import { createContext, useContext } from 'react';
import type { Theme } from './theme.ts';

/** The languages and the theme, for components in the shell. */
export interface ShellState {
  languages: readonly string[];
  theme: Theme;
}

export const ShellContext = createContext<ShellState>({ languages: [], theme: 'system' });
export const useShell = (): ShellState => useContext(ShellContext);
