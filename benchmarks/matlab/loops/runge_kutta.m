function d = g(t, y)
  d = -2*y + sin(t);
end
y = 1; t = 0; h = 1e-4;
while t < 10
  k1 = g(t,y); k2 = g(t+h/2, y+h/2*k1); k3 = g(t+h/2,y+h/2*k2); k4 = g(t+h,y+h*k3);
  y = y + h/6*(k1+2*k2+2*k3+k4);
  t = t + h;
end
fprintf('%.8f\n', y);
