// The socket to the server, which is opened again whenever it closes.

import { decode, type Incoming, type Outgoing } from './protocol';

const RETRY_MS = 1500;

/** Why nothing is shown. */
export type Trouble = 'connecting' | 'no-token' | 'refused' | 'gone' | 'no-graphics';

export interface ConnectionEvents {
  message(message: Incoming): void;
  /** Null when the socket is open. */
  trouble(trouble: Trouble | null): void;
}

export class Connection {
  private socket: WebSocket | null = null;
  private readonly token = new URLSearchParams(location.search).get('token');

  constructor(private readonly events: ConnectionEvents) {}

  open(): void {
    if (!this.token) {
      this.events.trouble('no-token');
      return;
    }
    const url = new URL('socket', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = new URLSearchParams({ token: this.token }).toString();
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      this.events.trouble(null);
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) => this.events.message(decode(event.data));
    socket.onclose = async () => {
      this.socket = null;
      const refused = !opened && (await this.isRefused(this.token ?? ''));
      this.events.trouble(refused ? 'refused' : 'gone');
      setTimeout(() => this.open(), RETRY_MS);
    };
  }

  /** What is sent without a connection is lost: the page starts anew with the next one. */
  send = (message: Outgoing): void => {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(message));
    }
  };

  /** A socket does not tell why it could not be opened; asking for the page again does. */
  private async isRefused(token: string): Promise<boolean> {
    try {
      const answer = await fetch(`./?${new URLSearchParams({ token })}`, { cache: 'no-store' });
      return answer.status === 403;
    } catch {
      return false;
    }
  }
}
