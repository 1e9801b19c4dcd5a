import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listTickets } from "./tickets.js";

export function handle(dataDir: string, request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? "/", "http://localhost").pathname;
  if (request.method === "GET" && path === "/tickets") {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(listTickets(dataDir)));
    return;
  }
  response.statusCode = 404;
  response.end();
}

export function serve(dataDir: string, port: number): void {
  createServer((request, response) => handle(dataDir, request, response)).listen(port);
}
