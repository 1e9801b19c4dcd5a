import { readdirSync } from "node:fs";

/** The ids of all tickets: the names of the folders in the data directory that are numbers. */
export function listTickets(dataDir: string): number[] {
  return readdirSync(dataDir)
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}
